import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadCatalogue } from '../../src/patch/catalogue.ts';
import { patchFileSchema } from '../../src/patch/catalogue-schema.ts';
import { includeText } from '../../src/patch/source-edit.ts';

const catalogue = await loadCatalogue();
const ids = catalogue.patches.map(({ id }) => id);
const capabilities = readFileSync(new URL('../../src/judge/capability-ids.ts', import.meta.url), 'utf8');

describe('the catalogue', () => {
  test('holds the patches that docs and remedies name', () => {
    expect(ids).toEqual(['embedded-chat', 'model-library']);
  });

  test.each(catalogue.patches)('$id gives a capability that is judged, and says when it retires', (patch) => {
    expect(capabilities).toContain(`'${patch.capability}'`);
    expect(patch.retires.structure.length).toBeGreaterThan(0);
    expect(patch.retires.probe).toMatch(/GET \/api\//);
    expect(patch.verify).toEqual([patch.id]);
    expect(patch.moduleText).toMatch(new RegExp(`^REVISION = ${patch.revision}$`, 'm'));
  });

  test('an anchor names no version, contract or line', () => {
    for (const { source } of catalogue.patches)
      expect(JSON.stringify({ ...source, append: '' })).not.toMatch(/\d\.\d+|line|contract/i);
  });

  test('what is not in the schema is refused', () => {
    const [patch] = catalogue.patches;
    expect(patchFileSchema.safeParse({ ...patch, id: 'Not An Id' }).success).toBe(false);
    expect(patchFileSchema.safeParse({ ...patch, source: { kind: 'regex' } }).success).toBe(false);
  });

  test('the payloads are Python 3.8 and need nothing but FastAPI and the standard library', () => {
    const texts = [
      ...catalogue.patches.flatMap(({ moduleText, includeText: text }) => [moduleText, text]),
      catalogue.overlay.files.get('api.py') ?? '',
    ];
    for (const text of texts) {
      const script =
        'import ast, sys, json; tree = ast.parse(sys.stdin.read(), feature_version=(3, 8)); print(json.dumps(sorted({n.name.split(".")[0] for i in ast.walk(tree) if isinstance(i, ast.Import) for n in i.names} | {i.module.split(".")[0] for i in ast.walk(tree) if isinstance(i, ast.ImportFrom)})))';
      const imported = JSON.parse(
        execFileSync('python3', ['-I', '-c', script], { input: text, encoding: 'utf8' }),
      ) as string[];
      const foreign = imported.filter((name) => /^(fastapi|starlette|hermes_\w+|yaml)$/.test(name));
      const standard = execFileSync(
        'python3',
        ['-I', '-c', 'import sys; print(" ".join(sys.stdlib_module_names))'],
        { encoding: 'utf8' },
      ).split(/\s+/);
      expect(imported.filter((name) => !foreign.includes(name) && !standard.includes(name))).toEqual([]);
    }
  });

  test('the block in the source holds nothing that Hermes One looks for', () => {
    for (const patch of catalogue.patches) {
      const text = includeText(patch, patch.includeText, '0'.repeat(64));
      expect(text).not.toMatch(
        /mount_spa\(app\)|@app\.post\("\/api\/model\/set"\)|embedded_chat\s*:\s*bool|ENABLED\s*=\s*True/,
      );
    }
  });
});
