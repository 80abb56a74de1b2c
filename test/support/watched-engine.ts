import type { Engine, QueryOptions } from '../../src/engine/engine.ts';

/** An engine that notes the options of each query. */
export function watchQueries(engine: Engine): { watched: Engine; asked: QueryOptions[] } {
  const asked: QueryOptions[] = [];
  const watched: Engine = {
    ...engine,
    query(sql, values, options) {
      asked.push(options);
      return engine.query(sql, values, options);
    },
  };
  return { watched, asked };
}
