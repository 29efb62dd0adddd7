/** The mount of a directory. */
export interface DirectoryMount {
  readonly uuid: string;
  readonly local: boolean;
  /** "pki/". */
  readonly path: string;
  /** "" for the root namespace. */
  readonly namespacePath: string;
  readonly defaultLeaseTtlSeconds: number;
  readonly maxLeaseTtlSeconds: number;
}

export interface PolicyOffer {
  /**
   * Whether the mount has a policy service; without one, external-policy directories do not exist.
   */
  isOffered(mount: DirectoryMount): Promise<boolean>;
}
