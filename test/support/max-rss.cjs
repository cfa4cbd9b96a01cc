// Preloaded into the program under test: writes its peak memory (KiB) to MAX_RSS_FILE when it ends.
const { writeFileSync } = require('node:fs');
process.on('exit', () => writeFileSync(process.env.MAX_RSS_FILE, String(process.resourceUsage().maxRSS)));
