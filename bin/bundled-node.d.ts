/** The package that has Node for this platform. */
export const nodePackage: string;
/** Its version as package.json pins it; undefined where no package is made for this platform. */
export function pinnedNode(): string | undefined;
