const LOG_COLUMNS = ['id', 'timestamp', 'event_message', 'metadata'];

/** Whether rows are log entries, which are listed rather than drawn. */
export function isLog(columns: readonly { readonly name: string }[]): boolean {
  return LOG_COLUMNS.every((name) => columns.some((column) => column.name === name));
}
