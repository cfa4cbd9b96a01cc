import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judgeFor } from '../../src/judge/case.ts';
import type { Client } from '../../src/judge/client.ts';
import { readClients } from '../../src/judge/client.ts';
import { judge } from '../../src/judge/judge.ts';
import { reportSchema } from '../../src/judge/schema.ts';
import type { Facts } from '../../src/probe/schema.ts';
import { httpFactSchema, wsFactSchema } from '../../src/probe/exchange-schema.ts';
import { factsSchema } from '../../src/probe/schema.ts';
import type { Format } from '../../src/report/render.ts';
import { formats, render } from '../../src/report/render.ts';
import { anyOfList, arbitraryOf, mutated } from './arbitrary.ts';
import { healthy, release } from './facts.ts';
import { isFull } from '../support/full.ts';

const clients = await readClients();
const names = clients.map((each) => each.name);
const many = isFull ? 10 : 1;
const runs = { numRuns: 150 * many };

const arbitrary = arbitraryOf(factsSchema) as fc.Arbitrary<Facts>;
/** Facts that are nearly right: parts or probes of a working dashboard replaced. */
const nearlyGood = fc.oneof(
  mutated(healthy(), factsSchema),
  mutated(release(healthy(), '0.14.0', { chatAssignment: 'from-parameter', generation: 'G0' }), factsSchema),
  fc
    .tuple(anyOfList(healthy().http, httpFactSchema), anyOfList(healthy().ws, wsFactSchema))
    .map(([http, ws]) => ({ ...healthy(), http, ws })),
);
const anyFacts = fc.oneof(arbitrary, nearlyGood);
const client = fc.constantFrom(...names);

describe('judge', () => {
  test('is total, and its report is valid', () => {
    fc.assert(
      fc.property(anyFacts, client, (facts, name) => {
        const report = judge(facts, { client: name, clients });
        reportSchema.parse({ ...report, durationMs: 0 });
        expect(report.exitCode).toBe(
          { compatible: 0, 'needs-remedy': 1, incompatible: 1, unknown: 3 }[report.verdict],
        );
      }),
      runs,
    );
  });
  test('never says compatible while something required is not a clear yes, or an error stands', () => {
    fc.assert(
      fc.property(anyFacts, client, (facts, name) => {
        const report = judge(facts, { client: name, clients });
        if (report.verdict !== 'compatible' || facts.asked.mode === 'legacy') return;
        const { requires } = clients.find((each) => each.name === name) ?? { requires: [] };
        for (const id of requires)
          expect(report.capabilities.find((each) => each.id === id)?.state).toBe('yes');
      }),
      runs,
    );
  });
  test('a running dashboard is compatible only with HTTP 101 and a JSON-RPC answer', () => {
    fc.assert(
      fc.property(nearlyGood, client, (facts, name) => {
        const report = judge(facts, { client: name, clients });
        if (report.verdict !== 'compatible' || facts.service === null || facts.asked.mode === 'legacy')
          return;
        expect(facts.ws.some((each) => each.outcome === 'open' && each.handshake === 'valid')).toBe(true);
        expect(facts.rpc.outcome).toBe('answered');
      }),
      runs,
    );
  });
  test('names at most one of the three token codes, and none twice', () => {
    fc.assert(
      fc.property(anyFacts, client, (facts, name) => {
        const found = judge(facts, { client: name, clients }).findings.map((each) => each.code);
        expect(
          found.filter((code) => /^TOKEN_(MISSING|REJECTED|UNREADABLE)$/.test(code)).length,
        ).toBeLessThan(2);
      }),
      runs,
    );
  });
  test('gives the same report for the same facts, also after they were saved and read', () => {
    fc.assert(
      fc.property(nearlyGood, client, (facts, name) => {
        const saved = JSON.parse(JSON.stringify(facts)) as Facts;
        expect(JSON.stringify(judge(saved, { client: name, clients }))).toBe(
          JSON.stringify(judge(facts, { client: name, clients })),
        );
      }),
      { numRuns: 50 * many },
    );
  });
  test('remedies of one id are one remedy', () => {
    fc.assert(
      fc.property(anyFacts, client, (facts, name) => {
        const { found } = judgeFor(facts, clients.find((each) => each.name === name) as Client, {});
        const seen = new Map<string, string>();
        for (const each of found.flatMap(({ draft }) => draft.remedies)) {
          expect(seen.get(each.id) ?? JSON.stringify(each)).toBe(JSON.stringify(each));
          seen.set(each.id, JSON.stringify(each));
        }
      }),
      runs,
    );
  });
  test('every finding has its remedies in the report, and no remedy ends processes by name', () => {
    fc.assert(
      fc.property(anyFacts, client, (facts, name) => {
        const report = judge(facts, { client: name, clients });
        const ids = report.remedies.map((each) => each.id);
        for (const found of report.findings) for (const id of found.fix) expect(ids).toContain(id);
        const words = report.remedies.flatMap((each) => each.commands.map((argv) => argv[0]));
        expect(words).not.toContain('pkill');
        expect(words).not.toContain('killall');
        for (const { commands } of report.remedies)
          for (const argv of commands) expect(argv.slice(1)).not.toContain('--stop');
      }),
      runs,
    );
  });
});

describe('reports', () => {
  test.each(formats)('%s is total and carries no control character', async (format: Format) => {
    await fc.assert(
      fc.asyncProperty(anyFacts, client, async (facts, name) => {
        const text = await render({ ...judge(facts, { client: name, clients }), durationMs: 1 }, format);
        expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
        expect(text.endsWith('\n')).toBe(true);
      }),
      { numRuns: 40 * many },
    );
  });
});
