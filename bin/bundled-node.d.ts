/** The package that has Node for this platform. */
export const nodePackage: string;
