/** The choice of the issuer that signs: an authority of this server, and one of its issuers that can sign. */
import { useSecret, useSecretList } from '../../api/queries.ts';
import { Label, Pair, SelectField } from '../../components/fields.tsx';
import type { IssuerInfo } from '../issuer/issuer.ts';
import { nameOfIssuer } from '../issuer/issuers.ts';

interface UiMounts {
  readonly secret?: Readonly<Record<string, { readonly type: string }>>;
}

/** Paths of the authorities that the token can reach. */
export const useAuthorities = (): readonly string[] => {
  const { data } = useSecret<UiMounts>('sys/internal/ui/mounts');
  return Object.entries(data?.secret ?? {})
    .filter(([, { type }]) => type === 'pki')
    .map(([path]) => path.replace(/\/$/, ''))
    .toSorted();
};

/** An issuer that can sign, with its name for people. */
export interface Signer {
  readonly id: string;
  readonly name: string;
}

/** Issuers that have a key, other than the one that is certified; the default first. */
export const useSigners = (signer: string, keyId: string) => {
  const list = useSecretList<IssuerInfo>(`${signer}/issuers`);
  const signers = Object.entries(list.data?.infos ?? {})
    .filter(([, { key_id: has }]) => has !== '' && has !== keyId)
    .toSorted(([, a], [, b]) => Number(b.is_default) - Number(a.is_default))
    .map(([id, info]): Signer => {
      const name = nameOfIssuer(id, info);
      return { id, name: info.is_default ? `${name}, the default` : name };
    });
  return { signers, isPending: list.isPending, error: list.error };
};

export const SignerFields = (props: {
  signer: string;
  by: string;
  signers: readonly Signer[];
  onChange: (signer: string, by: string | undefined) => void;
}) => {
  const { signer, by, signers, onChange } = props;
  const authorities = useAuthorities();
  return (
    <Pair>
      <Label>
        Authority that signs
        <SelectField value={signer} onChange={({ target }) => onChange(target.value, undefined)}>
          {(authorities.includes(signer) ? authorities : [signer, ...authorities]).map((path) => (
            <option key={path} value={path}>
              {path}
            </option>
          ))}
        </SelectField>
      </Label>
      <Label>
        Its issuer
        <SelectField value={by} onChange={({ target }) => onChange(signer, target.value)}>
          {signers.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
      </Label>
    </Pair>
  );
};
