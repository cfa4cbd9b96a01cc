/**
 * hermes-compat as a library: the stages of the road, each usable alone.
 *
 * ```ts
 * import { check } from 'hermes-compat';
 * const report = await check('http://127.0.0.1:9119', { client: 'hermes-one', token: process.env.TOKEN });
 * console.log(report.verdict, report.findings.map((finding) => finding.code));
 * ```
 */
export { check, type CheckOptions } from './lifecycle/check.ts';
export { examine, type Examination, type ExamineInput } from './lifecycle/examine.ts';
export { judge, type Judgement, type JudgeOptions } from './judge/judge.ts';
export { type Client, readClients } from './judge/client.ts';
export type { Check, Finding, Remedy, Report, Reports, Verdict } from './judge/schema.ts';
export type { Capability, Facts } from './probe/schema.ts';
export type { EngineProcess, Home, HostFacts, Install } from './engine/schema.ts';
export { type Format, formats, render } from './report/render.ts';
export { explanation, type Explanation } from './report/explain.ts';
export { parseTarget } from './target/parse.ts';
export type { Credential, Refinements, Target } from './target/types.ts';
export { localHost } from './host/local.ts';
export type { Host } from './host/types.ts';
export { CompatError, type ErrorKind } from './errors.ts';
