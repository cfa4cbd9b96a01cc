/** A deadline for each step of something: starts anew with every step, stands still while a person is asked. */
export interface Clock {
  step(): void;
  /** The clock stands until this has settled. */
  pauseFor<T>(wait: Promise<T>): Promise<T>;
  stop(): void;
}

export function stepClock(timeoutMs: number, onLate: () => void): Clock {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const step = (): void => {
    clearTimeout(timer);
    if (!stopped) timer = setTimeout(onLate, timeoutMs);
  };
  step();
  return {
    step,
    pauseFor: async (wait) => {
      clearTimeout(timer);
      try {
        return await wait;
      } finally {
        step();
      }
    },
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** Waits for something, but not longer than this. */
export const within = async (wait: Promise<unknown>, ms: number): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([wait, new Promise((resolve) => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
};
