import type { ChdbResult, Session } from 'chdb';

// Sessions with a last statement that failed or was stopped.
const dirty = new WeakSet<Session>();

/**
 * Runs one statement on a session. chDB keeps the rows that a failed or stopped statement had already written, and would prepend
 * them to the session's next answer, which may be another caller's. So the session is emptied after each failure, and if that
 * fails, before the next statement.
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
