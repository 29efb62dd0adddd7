/**
 * Issuers with the same name and key share one CRL, because a relying party cannot distinguish them
 * (reference §5.5).
 */
import { hash } from 'node:crypto';
import type { Authority, IssuerInUse } from '../../issuers/domain/authority.ts';

export interface CrlGroup {
  readonly id: string;
  readonly members: readonly IssuerInUse[];
}

/** The same for all issuers of a group, in every cluster. */
export const crlGroupId = ({ certificate }: IssuerInUse): string =>
  hash('sha256', Buffer.concat([certificate.publicKeyDer, certificate.subject]), 'hex').slice(
    0,
    32,
  );

export const crlGroups = (authority: Authority): readonly CrlGroup[] => {
  const groups = new Map<string, IssuerInUse[]>();
  for (const issuer of authority.issuers) {
    const id = crlGroupId(issuer);
    groups.set(id, [...(groups.get(id) ?? []), issuer]);
  }
  return [...groups].map(([id, members]) => ({ id, members }));
};

/** The issuer that signs the list of a group: the default issuer if it can, else the first that can. */
export const crlSignerOf = (group: CrlGroup, authority: Authority): IssuerInUse | undefined => {
  const able = group.members.filter(
    (member) => member.hasKey && member.issuer.usages.includes('crl-signing'),
  );
  return able.find((member) => authority.isDefault(member)) ?? able[0];
};
