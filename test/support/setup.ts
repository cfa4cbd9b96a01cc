// Tests see no HERMES_* or credential of the person who runs them.
for (const name of Object.keys(process.env)) {
  if (/^HERMES_(?!COMPAT_(TEST|CACHE|REQUIRE|BIN))/.test(name) || name.endsWith('_API_KEY'))
    delete process.env[name];
}
process.env['NO_COLOR'] = '1';
