const hidden = '[redacted]';

/** Shapes that only keys have, whatever stands before them. Names in code have no digits, `sk-` is enough by itself. */
const shaped = [
  /(?<![\w-])sk-[\w*.-]{10,}(?<![.-])/g,
  /(?<![\w-])(?:(?:sk|pk|rk|xai|pplx|nvapi|glpat|gsk|hf|gh[opsur]|github_pat|xox[abeprs])[-_]|AIza|AKIA)(?=[\w*-]*\d)[\w*-]{10,}/g,
  /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.?[\w-]*/g,
];
const header =
  /\b((?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token)\s+)?)[^\s"',;]{6,}/gi;
const bearer = /\b(bearer\s+)([A-Za-z0-9._~+/-]{8,}=*)/gi;
const query = /([?&](?:[a-z0-9]+[_-])*(?:key|token|secret|signature|sig)=)[^&#\s"'<>]{6,}/gi;
const told = /\b(api[ _-]?keys?\s+provided:\s*["']?)[^\s"',;]{8,}(?<!\.)/gi;
const named =
  /\b((?:(?:[a-z0-9]+[_-])*(?:api[_-]?key|apikey|secret|password|passwd|access[_-]?token|auth[_-]?token)|key|token)["']?\s*[=:]\s*["']?)([A-Za-z0-9_~+/-]{8,}=*)(?![\w.([])/gi;

/**
 * Text of a provider or an engine without what looks like a key in it: `sk-…` and its like, `Bearer …`, `key=…`. For texts that tell of a
 * failure, not for a chat: there it could hide what somebody wrote.
 */
export function maskKeys(text: string): string {
  return shaped
    .reduce((all, shape) => all.replaceAll(shape, hidden), text)
    .replaceAll(header, `$1${hidden}`)
    .replaceAll(bearer, (all, lead: string, value: string) => (isRandom(value) ? lead + hidden : all))
    .replaceAll(query, `$1${hidden}`)
    .replaceAll(told, `$1${hidden}`)
    .replaceAll(named, (all, lead: string, value: string) => (isRandom(value) ? lead + hidden : all));
}

/** Words have no digits; stored ids begin with their day. */
const isRandom = (value: string): boolean =>
  /\d/.test(value) && /[a-z]/i.test(value) && !/^\d{8}_\d{6}_/.test(value);
