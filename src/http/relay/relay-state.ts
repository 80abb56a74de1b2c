import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyInstance {
    /** `undefined`: the app accepts connections itself. */
    relay: RelayState | undefined;
  }
}

/** The listener processes of an app, once there are some; see openListeners. */
export interface RelayState {
  current: OpenListeners | undefined;
}

export interface OpenListeners {
  /** Resolves when none accepts connections any more; open ones go on. */
  stop(): Promise<void>;
  /** Resolves when all have sent their last bytes and ended. */
  end(): Promise<void>;
}

/** Prepares an app for listener processes: they stop accepting when it begins to close, and end after its last response. */
export function registerRelay(app: FastifyInstance, isRelayed: boolean): void {
  const state: RelayState | undefined = isRelayed ? { current: undefined } : undefined;
  app.decorate('relay', state);
  if (state === undefined) return;
  app.addHook('preClose', async () => await state.current?.stop());
  app.addHook('onClose', async () => await state.current?.end());
}
