export { createReducer, reduce, type Reducer, type ReducerOptions } from './reducer.ts';
export type * from './types.ts';
