/** Permanent ids of what a dashboard can offer. Adding one is fine; renaming breaks clients/*.json, targets files and saved reports. */
export const capabilityIds = [
  'status',
  'ws',
  'rpc',
  'contract',
  'embedded-chat',
  'sessions',
  'session-messages',
  'model-options',
  'model-set',
  'model-library',
  'attachments',
  'large-attachments',
  'server-requests',
  'ticket-auth',
] as const;

export type CapabilityId = (typeof capabilityIds)[number];
