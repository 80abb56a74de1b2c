/** The argument of a plugin: Swagger UI brings its own React. */
interface System {
  readonly React: {
    createElement(
      type: unknown,
      props: { readonly className: string } | null,
      ...children: unknown[]
    ): unknown;
  };
}

declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  export type Plugin = (system: System) => { readonly components: object };

  /** The few options that we set; the package has no types. */
  export default function SwaggerUIBundle(options: {
    readonly spec: object;
    readonly domNode: HTMLElement;
    readonly deepLinking: boolean;
    readonly plugins: readonly Plugin[];
    /** The name of the component that is the whole. */
    readonly layout: string;
    readonly defaultModelsExpandDepth: number;
    readonly displayRequestDuration: boolean;
    readonly docExpansion: 'list' | 'full' | 'none';
    readonly syntaxHighlight: { readonly activated: false };
    readonly validatorUrl: null;
    readonly showMutatedRequest: boolean;
    readonly requestInterceptor: (request: { headers: Record<string, string> }) => object;
  }): void;
}
