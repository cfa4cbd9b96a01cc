import { z } from 'zod';

/** What one host shows of Hermes: read from files and the process table, no engine module executed. Loaded only to parse or publish; code uses the types. */

const unknownOr = <T extends z.ZodType>(type: T) => type.nullable();

export const generationSchema = z
  .enum(['G0', 'G1', 'G2'])
  .describe(
    'By structure: G0 start_server takes embedded_chat; G1 monolith, always on; G2 web_routers/chat_ws.py',
  );

export const contractOnDiskSchema = z.object({
  value: z.number().int().min(0).nullable(),
  state: z
    .enum(['known', 'none', 'unknown'])
    .describe('none: the tree has no such constant; unknown: it could not be read'),
  raw: z.string().nullable().describe('The text after the equals sign, at most 80 characters'),
});

export const codeFileSchema = z.object({
  path: z.string(),
  sha256: z.string(),
  mtimeMs: z.number(),
  size: z.number(),
});

export const installSchema = z.object({
  id: z.string().describe('The install root, its real path; names the install in this document'),
  root: z.string(),
  packageDir: z.string().describe('Folder of hermes_cli'),
  method: z.enum(['git', 'pip', 'uv', 'uv-tool', 'pipx', 'editable', 'fhs', 'docker', 'nix', 'unknown']),
  distribution: z.string().nullable().describe('Distribution name as installed: hermes-agent or a fork'),
  version: z
    .string()
    .nullable()
    .describe('As its files say; from dist-info or pyproject where the package computes it'),
  releaseDate: z.string().nullable(),
  generation: generationSchema.nullable(),
  contract: contractOnDiskSchema,
  chatAssignment: z
    .enum(['from-parameter', 'always-on', 'absent', 'unknown'])
    .describe(
      'What start_server does with _DASHBOARD_EMBEDDED_CHAT_ENABLED: from-parameter needs a launch setting',
    ),
  chatDefaultOnly: z
    .boolean()
    .optional()
    .describe(
      'The default of start_server or the module constant says True while the assignment still takes the parameter',
    ),
  modelLibrary: z
    .enum(['present', 'absent', 'unknown'])
    .optional()
    .describe('A route /api/model/library in the installed source, whoever added it'),
  pluginMount: z
    .enum(['known', 'unknown'])
    .optional()
    .describe(
      'known: web_server.py mounts the routes of plugins once at module level, where the model library can be added; unknown: nowhere there',
    ),
  residue: z
    .object({
      conflictMarkers: z
        .array(z.string())
        .describe('Code files, and changed Python files, that hold both ends of a conflict'),
      staleBytecode: z
        .array(z.string())
        .describe('Compiled files that would run instead of their changed source'),
      backups: z.array(z.string()).describe('*.orig and the like beside sources'),
      mixedVersions: z
        .array(z.string())
        .describe('Version claims of its files that disagree, as `file: version`'),
      parked: z.array(z.string()).describe('Stash entries of an update that hold an edit for clients'),
      webBuildStale: z.boolean().nullable(),
    })
    .optional()
    .describe('What updates leave behind'),
  profileServesFrom: z
    .enum(['profile', 'root', 'unknown'])
    .optional()
    .describe(
      'Home of a dashboard started for a named profile without --isolated: its own (to 0.16) or the root home (0.17 on)',
    ),
  interpreter: z.object({ path: z.string(), version: z.string().nullable() }).nullable(),
  commands: z.array(z.string()).describe('Scripts that start it, as found'),
  onPath: z.boolean().describe('The first hermes on PATH leads here'),
  state: z
    .enum(['pristine', 'edited', 'unknown'])
    .describe('Against RECORD hashes or git; edited names files'),
  editedFiles: z.array(z.string()),
  writable: z.enum(['yes', 'no', 'unknown']),
  notWritable: z.enum(['permission', 'other-owner', 'read-only-fs', 'sealed', 'managed']).nullable(),
  owner: z.object({ uid: z.number(), name: z.string().nullable() }).nullable(),
  missingModules: z
    .array(z.string())
    .describe('Modules that hermes_cli.web_server imports and the tree lacks'),
  wsLibrary: z.enum(['present', 'missing', 'unknown']).describe('websockets or wsproto in its environment'),
  webBuild: z.enum(['present', 'missing', 'unknown']),
  git: z
    .object({
      head: z.string().nullable(),
      branch: z.string().nullable(),
      dirty: z.array(z.string()),
      stashes: z.array(z.string()).describe('Message of each entry, newest first'),
      stashCommits: z
        .array(z.string())
        .optional()
        .describe('Commit of each entry, in the order of `stashes`'),
      added: z.array(z.string()).optional().describe('Those of `dirty` that HEAD does not have'),
      removed: z.array(z.string()).optional().describe('Changed files that are not in the tree any more'),
      unmerged: z
        .array(z.string())
        .optional()
        .describe('Files in which a merge stopped half way, as git says'),
    })
    .nullable(),
  codeFiles: z
    .array(codeFileSchema)
    .describe('Files whose change needs a restart: web_server.py, main.py, chat_ws.py, gateway server'),
});

export const processSchema = z.object({
  pid: z.number(),
  startedAt: unknownOr(z.string()).describe('ISO 8601'),
  startTicks: z
    .string()
    .nullable()
    .describe('Start time as the kernel gives it; with pid it identifies the process'),
  uid: z.number().nullable(),
  user: z.string().nullable(),
  install: z.string().nullable().describe('Id of the install that it runs'),
  interpreter: z.string().nullable(),
  command: z.enum(['dashboard', 'serve', 'gateway', 'other']),
  argv: z.array(z.string()).describe('Redacted'),
  bind: z.string().nullable(),
  port: z.number().nullable(),
  hermesHome: z.string().nullable(),
  profile: z.string().nullable(),
  /** From its environment only these are kept. */
  env: z.object({
    tui: z.string().nullable(),
    webDist: z.string().nullable(),
    sessionToken: z
      .string()
      .nullable()
      .describe('Fingerprint of HERMES_DASHBOARD_SESSION_TOKEN where readable'),
    readable: z.boolean(),
  }),
  newerFiles: z.array(z.string()).describe('Code files of its install that changed after it started'),
  owner: z.object({
    kind: z.enum(['launch', 'systemd', 'launchd', 'container', 'ssh', 'manual', 'unknown']),
    name: z.string().nullable(),
    manager: z
      .enum(['system', 'user'])
      .optional()
      .describe('Whose systemd or launchd keeps it; a system unit can run as any user'),
  }),
  source: z.enum(['process-table', 'spawn-ledger', 'listener']),
});

export const homeSchema = z.object({
  path: z.string().describe('The effective HERMES_HOME'),
  root: z.string().describe('The root home, which holds profiles/ and desktop-compat/'),
  profile: z.string().nullable(),
  from: z.enum(['flag', 'target', 'environment', 'default', 'active-profile', 'process']),
  exists: z.boolean(),
  readable: z.boolean(),
  writable: z.boolean(),
  managed: z.boolean(),
  envFile: z.object({
    exists: z.boolean(),
    readable: z.boolean(),
    tui: z.string().nullable(),
    webDist: z.string().nullable(),
    sessionToken: z.string().nullable(),
  }),
  config: z.object({
    exists: z.boolean(),
    readable: z.boolean(),
    pluginsEnabled: z.array(z.string()).nullable(),
    pluginsIsolation: z.string().nullable(),
    publicUrl: z.boolean(),
    configVersion: z.number().nullable(),
  }),
  otherPlugins: z.array(z.string()).describe('plugins/* folders that are not ours'),
  overlay: z.object({
    present: z.boolean(),
    carries: z.array(z.string()),
    revision: z.number().nullable(),
    changedMs: z.number().nullable().optional().describe('When its manifest was written'),
  }),
  markers: z.array(
    z.object({
      path: z.string(),
      state: z.enum(['ok', 'corrupt']),
      ours: z.boolean(),
      text: z.string().nullable(),
    }),
  ),
  journalUnfinished: z.boolean(),
  update: z
    .object({
      step: z.string().describe('The last one that is done'),
      at: z.string().nullable().describe('When it began, ISO 8601'),
      prepared: z.boolean().describe('`pre-update` ended as it should, and `post-update` is to come'),
      pid: z.number().nullable(),
      alive: z.boolean().nullable().describe('null: by another machine, or nobody holds its lock'),
      held: z.boolean(),
    })
    .nullable()
    .optional()
    .describe('An update by hermes-compat that is going on, or was cut'),
  locks: z.array(
    z.object({
      path: z.string().describe('File; the command line of an updater that takes none'),
      kind: z.enum(['ours', 'engine-update']),
      pid: z.number().nullable(),
      alive: z.boolean().nullable(),
      ageMs: z.number().nullable(),
    }),
  ),
});

export const hostFactsSchema = z.object({
  name: z.string(),
  kind: z.enum(['local', 'ssh']),
  os: z.string(),
  user: z.string(),
  uid: z.number(),
  hostname: z.string(),
  container: z.boolean(),
  home: homeSchema.nullable(),
  named: z
    .enum(['home', 'root', 'venv', 'script', 'other', 'unreadable', 'nothing'])
    .nullable()
    .optional()
    .describe(
      'What the path is that the target names; other: a folder of another kind; null: none was named',
    ),
  chosen: z
    .object({
      install: z.string().nullable(),
      why: z
        .enum(['port', 'port-not-ours', 'named', 'dashboard-of-home', 'home', 'path', 'first', 'none'])
        .describe(
          'port: its process serves the asked port; port-not-ours: something else does, so no disk facts apply',
        ),
    })
    .optional()
    .describe('The install that the target means'),
  listener: z
    .object({
      port: z.number(),
      pid: z.number().nullable().describe('null: this account may not see it'),
      uid: z.number().nullable(),
      user: z.string().nullable(),
      program: z.string().nullable(),
      engine: z.enum(['yes', 'no', 'unknown']),
    })
    .nullable()
    .optional()
    .describe('Who listens on the asked port; null: none asked, or nobody'),
  looked: z.array(
    z.object({
      place: z.string(),
      found: z.enum(['install', 'nothing', 'unreadable', 'not-hermes']),
      why: z.string().nullable(),
    }),
  ),
  notes: z
    .array(z.object({ code: z.string(), text: z.string() }))
    .describe('What the host got in the way of: shell noise, unreadable process table …'),
  partial: z.boolean(),
});

export type Generation = z.infer<typeof generationSchema>;
export type ContractOnDisk = z.infer<typeof contractOnDiskSchema>;
export type CodeFile = z.infer<typeof codeFileSchema>;
export type Install = z.infer<typeof installSchema>;
export type EngineProcess = z.infer<typeof processSchema>;
export type Home = z.infer<typeof homeSchema>;
export type HostFacts = z.infer<typeof hostFactsSchema>;
