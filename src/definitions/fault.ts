/** Something wrong in a definition, where it stands, and what would be right. */
export interface Fault {
  /** Path as given to the service, such as `endpoints/logs.all/endpoint.yaml`. */
  readonly file: string;
  /** Counts from 1. */
  readonly line: number;
  readonly message: string;
}

/** `file:line: message`, the form that editors and terminals make clickable. */
export function formatFault(fault: Fault): string {
  return `${fault.file}:${fault.line}: ${fault.message}`;
}
