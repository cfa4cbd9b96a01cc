export { createReducer, reduce, type Reducer, type ReducerOptions } from './reducer.ts';
export { turnsOfRows, type StoredTurn } from './stored.ts';
export {
  compare,
  storedSessionsOf,
  type Comparison,
  type Difference,
  type DifferenceCode,
  type StoredSessions,
} from './compare.ts';
export type * from './types.ts';
