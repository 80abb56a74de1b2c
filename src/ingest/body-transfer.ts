/** What of a buffer may be handed to another thread; one that shares its memory with others is copied instead. */
export function transferable({ buffer, length }: Buffer): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && length === buffer.byteLength ? [buffer] : [];
}
