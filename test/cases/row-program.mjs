// A program as `cases/check.mjs rows` wants it, made of the built library.
import { readFileSync } from 'node:fs';
import {
  markTurnFailed,
  pruneOverlay,
  reconcileAfterRefresh,
  restoreOverlay,
  shouldSendToAgent,
} from '../../dist/turn/index.js';

const one = JSON.parse(readFileSync(0, 'utf8'));
const results = {
  sendable: () => one.rows.filter(shouldSendToAgent).map((row) => row.id),
  reconcile: () => reconcileAfterRefresh(one.current, one.stored, { activeTurn: one.activeTurn }),
  'mark-failed': () => markTurnFailed(one.current, one.activeTurn, one.error),
  'restore-overlay': () => restoreOverlay(one.stored, one.overlay, one.session),
  'prune-overlay': () => pruneOverlay(one.overlay, one.sessions),
};
console.log(JSON.stringify(results[one.op]()));
