/** The order in which issuers are drawn: each below its signer. */

export interface ChainedIssuer {
  readonly id: string;
  readonly name: string;
  readonly isDefault: boolean;
  readonly certificate: string;
  /** The certificate itself first, then those that signed it. */
  readonly chain: readonly string[];
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface IssuerRow {
  readonly issuer: ChainedIssuer;
  /** 0 for an issuer whose signer is not in the mount. */
  readonly depth: number;
  /** Row of the signer. */
  readonly parentAt: number | undefined;
  /** Name of the signer. */
  readonly signer: string | undefined;
}

/** @param issuers in any order; a cycle of signatures is cut */
export const issuerRows = (issuers: readonly ChainedIssuer[]): readonly IssuerRow[] => {
  const parentOf = (one: ChainedIssuer): ChainedIssuer | undefined => {
    const signer = one.chain.map((pem) => pem.trim()).find((pem) => pem !== one.certificate.trim());
    return issuers.find(({ certificate }) => certificate.trim() === signer);
  };
  const rows: IssuerRow[] = [];
  const drawn = new Set<ChainedIssuer>();
  const draw = (issuer: ChainedIssuer, depth: number, parentAt: number | undefined): void => {
    if (drawn.has(issuer)) return;
    drawn.add(issuer);
    const signer = parentAt === undefined ? undefined : rows[parentAt]?.issuer.name;
    const at = rows.push({ issuer, depth, parentAt, signer }) - 1;
    for (const child of issuers) if (parentOf(child) === issuer) draw(child, depth + 1, at);
  };
  const byExpiry = issuers.toSorted((a, b) => a.untilMs - b.untilMs);
  for (const issuer of byExpiry) if (parentOf(issuer) === undefined) draw(issuer, 0, undefined);
  for (const issuer of byExpiry) draw(issuer, 0, undefined);
  return rows;
};
