import type { ChdbResult, Session } from 'chdb';

// Sessions whose last statement did not answer in full.
const dirty = new WeakSet<Session>();

/**
 * Runs one statement on a session. chDB keeps what a failed or stopped statement has left there, the rows that it had
 * already written among it, and would put them before the next answer, which may be another caller's. So the session is
 * emptied before it is given back, and, should that fail, before anything else runs on it.
 */
export async function runStatement(session: Session, sql: string, format: string): Promise<ChdbResult> {
  if (dirty.has(session)) await empty(session);
  dirty.add(session);
  try {
    const result = await session.queryAsync(sql, { format });
    dirty.delete(session);
    return result;
  } catch (error) {
    await empty(session).catch(() => {}); // tried again before the next statement
    throw error;
  }
}

async function empty(session: Session): Promise<void> {
  await session.queryAsync('SELECT 1', { format: 'Null' });
  dirty.delete(session);
}
