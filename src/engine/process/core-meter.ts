/** Measures the core time of one statement. @returns ends it; returns ms */
export type StartMeter = () => () => number;

/**
 * Divides the core time of the process evenly among the statements that run, anew whenever one begins or ends: the engine counts none of
 * its own. Time in which none runs, such as that of merges, is nobody's.
 *
 * @param readMicros core time of the process so far
 */
export function createCoreMeter(readMicros: () => number): StartMeter {
  const running = new Set<{ micros: number }>();
  let last = 0;

  function divide(): void {
    const total = readMicros();
    for (const statement of running) statement.micros += (total - last) / running.size;
    last = total;
  }

  return () => {
    divide();
    const statement = { micros: 0 };
    running.add(statement);
    return () => {
      divide();
      running.delete(statement);
      return statement.micros / 1000;
    };
  };
}
