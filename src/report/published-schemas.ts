/** JSON Schemas of every document that we print, by file name under schemas/. Written by scripts/generate.mjs, compared in a test. */
export async function publishedSchemas(): Promise<Record<string, object>> {
  const [
    { z },
    { factsSchema },
    { reportSchema, reportsSchema },
    { launchSchema, stopSchema },
    { simulationsSchema, simulatorSchema },
    { timelineSchema },
    { recordingSchema, turnsSchema },
    { errorSchema },
    { hookRunSchema, hooksSchema },
    { updateSchema },
    { patchFileSchema },
    { changeSchema, historySchema, markerSchema, patchListSchema, planSchema, statusSchema },
  ] = await Promise.all([
    import('zod'),
    import('../probe/schema.ts'),
    import('../judge/schema.ts'),
    import('../launch/schema.ts'),
    import('../simulate/schema.ts'),
    import('./timeline-schema.ts'),
    import('../live/schema.ts'),
    import('./error-schema.ts'),
    import('../lifecycle/hook-schema.ts'),
    import('../lifecycle/update/schema.ts'),
    import('../patch/catalogue-schema.ts'),
    import('../patch/schema.ts'),
  ]);
  const documents = {
    facts: factsSchema,
    report: reportSchema,
    reports: reportsSchema,
    launch: launchSchema,
    stop: stopSchema,
    simulator: simulatorSchema,
    simulations: simulationsSchema,
    timeline: timelineSchema,
    turns: turnsSchema,
    recording: recordingSchema,
    error: errorSchema,
    hooks: hooksSchema,
    'hook-run': hookRunSchema,
    update: updateSchema,
    patch: patchFileSchema,
    patches: patchListSchema,
    plan: planSchema,
    status: statusSchema,
    change: changeSchema,
    history: historySchema,
    marker: markerSchema,
  };
  return Object.fromEntries(
    // `input` leaves room for keys that a later minor version adds.
    Object.entries(documents).map(([name, schema]) => [
      `${name}.schema.json`,
      z.toJSONSchema(schema, { io: 'input' }),
    ]),
  );
}
