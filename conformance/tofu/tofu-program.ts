import { buildGoTool } from '@keelson/testkit';

/** Builds OpenTofu, in the version of `go.mod`. @returns its file */
export const buildTofu = (): Promise<string> => buildGoTool(import.meta.dirname);
