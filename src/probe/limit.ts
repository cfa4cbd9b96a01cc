/** A time limit inside another one. `clear` must be called when the work is over. */
export interface Limit {
  signal: AbortSignal;
  clear(): void;
  /** Ends all that still waits on it. */
  end(): void;
}

/**
 * Ends after `ms`, or with its parent. The reason is named TimeoutError when time ran out here or in a parent.
 * Made by hand: `AbortSignal.any` over `AbortSignal.timeout` can be collected before it fires (Node 20).
 */
export function limit(parent: AbortSignal | undefined, ms: number): Limit {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new DOMException('time is over', 'TimeoutError')),
    Math.max(0, ms),
  );
  const onParent = (): void => controller.abort(parent?.reason);
  if (parent?.aborted === true) onParent();
  else parent?.addEventListener('abort', onParent, { once: true });
  const clear = (): void => {
    clearTimeout(timer);
    parent?.removeEventListener('abort', onParent);
  };
  return {
    signal: controller.signal,
    clear,
    end: () => {
      clear();
      controller.abort();
    },
  };
}

export const timedOut = (signal: AbortSignal): boolean =>
  (signal.reason as { name?: unknown } | undefined)?.name === 'TimeoutError';
