import type { Engine } from '../engine/engine.ts';
import { createTimeZones } from './time-zone.ts';

/** Reads the names of functions, in lower case, and time zones: they do not depend on what is stored. */
export async function readEngineNames(engine: Engine) {
  const functions = await engine.inspect('SELECT lower(name) AS name FROM system.functions');
  const zones = await engine.inspect('SELECT time_zone FROM system.time_zones');
  return {
    functions: new Set(functions.map((row) => String(row['name']))),
    zones: createTimeZones(zones.map((row) => String(row['time_zone']))),
  };
}
