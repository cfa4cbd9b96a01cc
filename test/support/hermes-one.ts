/**
 * How Hermes One decides and edits, by its published rules (facts of its patcher up to 2026-09-07 … v3), so that living beside it
 * can be tried. The block is a stand-in of our own with its marker lines.
 */
export const blockStart = '# --- HERMES_ONE_MODEL_LIBRARY_COMPAT_V1 -------------------------------------';
export const blockEnd = '# --- /HERMES_ONE_MODEL_LIBRARY_COMPAT_V1 ------------------------------------';

/** `product` differs between forks; older versions know no profile. */
export const block = (product = 'Hermes One', profile = true): string => `${blockStart}
# Compatibility endpoint installed by ${product}.
def _hermes_one_model_library_path(${profile ? 'profile=None' : ''}):
    return get_hermes_home() / "models.json"


@app.get("/api/model/library")
def hermes_one_get_model_library(${profile ? 'profile: Optional[str] = None' : ''}):
    return {"models": json.loads(_hermes_one_model_library_path().read_text())}
${blockEnd}`;

export interface Decision {
  compatible: boolean;
  source: string;
}

export function hermesOne(source: string, product?: string, profile?: boolean): Decision {
  const chat = decideChat(source);
  return chat.compatible ? decideLibrary(chat.source, block(product, profile)) : chat;
}

function decideChat(source: string): Decision {
  if (/\b_DASHBOARD_EMBEDDED_CHAT_ENABLED\s*=\s*True\b/.test(source)) return { compatible: true, source };
  if (/\bembedded_chat\s*:\s*bool\s*=\s*True\b/.test(source)) return { compatible: true, source };
  const off = /(\bembedded_chat\s*:\s*bool\s*=\s*)False\b/;
  return off.test(source)
    ? { compatible: true, source: source.replace(off, '$1True') }
    : { compatible: false, source };
}

function decideLibrary(source: string, text: string): Decision {
  const bare = withoutBlock(source);
  if (!bare.includes('@app.post("/api/model/set")')) return { compatible: false, source };
  const at = bare.indexOf('mount_spa(app)');
  const patched =
    at < 0
      ? `${bare.trimEnd()}\n\n\n${text}\n`
      : `${bare.slice(0, at).replace(/\n*$/, '\n')}\n\n${text}\n\n${bare.slice(at)}`;
  return { compatible: true, source: patched };
}

function withoutBlock(source: string): string {
  const start = source.indexOf(blockStart);
  const end = start < 0 ? -1 : source.indexOf(blockEnd, start);
  if (end < 0) return source;
  return (
    source.slice(0, start).replace(/\n*$/, '\n') + source.slice(end + blockEnd.length).replace(/^\n*/, '')
  );
}
