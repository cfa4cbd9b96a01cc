export { createReducer, reduce, type Reducer, type ReducerOptions } from './reducer.ts';
export { turnsOfRows, type StoredTurn } from './stored.ts';
export { compare, type Comparison, type Difference, type DifferenceCode } from './compare.ts';
export { storedSessionsOf, type StoredSessions } from './stored-sessions.ts';
export {
  shouldCopyToTranscript,
  shouldSendToAgent,
  transcriptText,
  type ActiveTurn,
  type Row,
} from './rows.ts';
export {
  markTurnFailed,
  preserveLocalErrors,
  reconcileAfterRefresh,
  type ReconcileOptions,
} from './reconcile.ts';
export { overlayEventsOf, pruneOverlay, restoreOverlay, type OverlayEvent } from './overlay.ts';
export {
  openOverlayStore,
  overlayFile,
  type OverlayFile,
  type OverlayStore,
  type OverlayStoreOptions,
} from './overlay-store.ts';
export { rowsOfStoredTurn, rowsOfTurn } from './projection.ts';
export { completionErrorText } from './completion-error.ts';
export { readCompletion, type CompletionOptions, type CompletionTurn } from './completions.ts';
export { afterDashboardFailure, type DashboardFailure } from './dashboard-failure.ts';
export { openGateway, type Gateway } from './gateway.ts';
export type { GatewayOptions } from './gateway-state.ts';
export {
  isGatewayFailure,
  type Connect,
  type GatewayFailure,
  type GatewaySocket,
  type SocketEvents,
} from './gateway-link.ts';
export type { Attached, GatewaySession } from './gateway-session.ts';
export type { AttachedFile, GatewayFile } from './gateway-attach.ts';
export type { GatewayQuestion } from './gateway-questions.ts';
export type { Submitted } from './gateway-submit.ts';
export type * from './types.ts';
