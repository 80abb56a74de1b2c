declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  /** The few options that we set; the package has no types of its own. */
  export default function SwaggerUIBundle(options: {
    readonly spec: object;
    readonly domNode: HTMLElement;
    readonly deepLinking: boolean;
    readonly defaultModelsExpandDepth: number;
    readonly displayRequestDuration: boolean;
    readonly docExpansion: 'list' | 'full' | 'none';
    readonly validatorUrl: null;
    readonly showMutatedRequest: boolean;
    readonly requestInterceptor: (request: { headers: Record<string, string> }) => object;
  }): void;
}
