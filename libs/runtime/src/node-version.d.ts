/** Types of node-version.js, which cannot be TypeScript itself. */
export declare const refuseOldNode: (name: string) => boolean;
