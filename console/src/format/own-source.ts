/** Whether the service itself writes to a source, which says nothing about senders. */
export function isOwnSource(name: string): boolean {
  return name.startsWith('tailrace.');
}
