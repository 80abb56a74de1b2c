/** Returns the memory of a buffer that can move to another thread; one that shares it with others is copied instead. */
export function transferable({ buffer, length }: Uint8Array): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && length === buffer.byteLength ? [buffer] : [];
}

/**
 * Frees the memory of buffers that nothing uses any more; they are empty afterwards. Those that share their memory with
 * others stay as they are. Otherwise V8 frees it by marking the whole heap: beside a steady load of bodies, seven times
 * a second.
 */
export function freeMemory(buffers: readonly Uint8Array[]): void {
  for (const memory of buffers.flatMap(transferable)) memory.transfer(0);
}
