/** Issuers of an authority: the chain of signatures over time, rotation, and details of each. */
import { useQueries } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useCapabilities, useSecretList } from '../api/queries.ts';
import { callSecrets, readData } from '../api/secrets-api.ts';
import { useSession } from '../api/session.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { FactList } from '../components/data-table.tsx';
import { formatTime } from '../components/format.ts';
import { Loaded, Skeleton } from '../components/loaded.tsx';
import { Card, Empty } from '../components/page.tsx';
import { Pill } from '../components/pill.tsx';
import { certificateContents } from './certificate-contents.ts';
import { Download } from './download.tsx';
import { IssuerChain } from './issuer-chain.tsx';
import type { ChainedIssuer } from './issuer-rows.ts';
import { type KeyedIssuer, RetireIssuer, Rotation } from './rotation.tsx';
import { ValidityBar } from './validity-bar.tsx';

const route = getRouteApi('/ui/certificates/$mount');

interface IssuerInfo {
  readonly is_default: boolean;
  readonly issuer_name: string;
  readonly key_id: string;
  readonly serial_number: string;
}

interface Issuer {
  readonly certificate: string;
  readonly ca_chain: readonly string[];
  readonly issuer_name: string;
  readonly key_id: string;
  readonly usage: string;
  readonly leaf_not_after_behavior: string;
  readonly revoked: boolean;
}

const OUTLIVING: Readonly<Record<string, string>> = {
  err: 'are refused',
  truncate: 'are shortened to its validity',
  permit: 'are issued',
};

const IssuerCard = (props: {
  mount: string;
  id: string;
  info: IssuerInfo;
  issuer: Issuer | undefined;
}) => {
  const { mount, id, info, issuer } = props;
  const may = useCapabilities([`${mount}/config/issuers`, `${mount}/issuer/${id}`]);
  const contents = issuer && certificateContents(issuer.certificate);
  const name = contents?.commonName ?? (info.issuer_name || id);
  return (
    <Card
      title={name}
      actions={
        <span>
          {info.is_default && <Pill tone="good">default</Pill>}{' '}
          {issuer?.revoked === true && <Pill tone="bad">revoked</Pill>}{' '}
          {info.key_id === '' && <Pill>without a key</Pill>}
        </span>
      }
    >
      {issuer === undefined && <Skeleton />}
      {contents && (
        <ValidityBar from={contents.notBefore.toISOString()} to={contents.notAfter.toISOString()} />
      )}
      <FactList
        facts={[
          ['Id', <code key="id">{id}</code>],
          ['Name', info.issuer_name || '–'],
          ...(contents
            ? ([
                ['Signed by', contents.issuer],
                ['Key', contents.key],
                ['Expires', formatTime(contents.notAfter.getTime())],
              ] as const)
            : []),
          ...(issuer
            ? ([
                ['Usage', issuer.usage.replaceAll(',', ', ')],
                [
                  'Certificates that would outlive it',
                  OUTLIVING[issuer.leaf_not_after_behavior] ?? issuer.leaf_not_after_behavior,
                ],
              ] as const)
            : []),
        ]}
      />
      <div className="form-actions">
        {issuer && (
          <Download
            name={`${info.issuer_name || id}.pem`}
            content={issuer.certificate}
            label="PEM"
          />
        )}
        {!info.is_default && may(`${mount}/config/issuers`, 'update') && (
          <ActionButton
            label="Make it the default"
            title={`Issue by ${name} from now on?`}
            confirm="Make it the default"
            act={() => callSecrets('POST', `${mount}/config/issuers`, { body: { default: id } })}
            commands={[
              secretsCurl('POST', `${mount}/config/issuers`, { default: id }),
              vaultCommand(`vault write ${mount}/config/issuers default=${id}`),
            ]}
          >
            <p>Roles that name no issuer use it. What the old one has issued stays valid.</p>
          </ActionButton>
        )}
        {issuer && !info.is_default && (
          <RetireIssuer
            mount={mount}
            id={id}
            name={name}
            usage={issuer.usage}
            mayChange={may(`${mount}/issuer/${id}`, 'patch')}
            mayDelete={may(`${mount}/issuer/${id}`, 'delete')}
          />
        )}
      </div>
    </Card>
  );
};

/** The documents of the issuers, by id. */
const useIssuers = (mount: string, ids: readonly string[]): ReadonlyMap<string, Issuer> => {
  const { secrets, namespace } = useSession();
  const answers = useQueries({
    queries: ids.map((id) => ({
      queryKey: ['secrets', secrets, namespace, `${mount}/issuer/${id}`],
      queryFn: async ({ signal }: { signal: AbortSignal }) =>
        (await readData<Issuer>(`${mount}/issuer/${id}`, { signal })) ?? null,
    })),
  });
  return new Map(
    ids.flatMap((id, at) => {
      const issuer = answers[at]?.data;
      return issuer === undefined || issuer === null ? [] : [[id, issuer] as const];
    }),
  );
};

const toChained = (
  issuers: ReadonlyMap<string, Issuer>,
  infos: Readonly<Record<string, IssuerInfo>>,
): readonly ChainedIssuer[] =>
  [...issuers].map(([id, issuer]) => {
    const contents = certificateContents(issuer.certificate);
    return {
      id,
      name: contents.commonName ?? (issuer.issuer_name || id),
      isDefault: infos[id]?.is_default === true,
      certificate: issuer.certificate,
      chain: issuer.ca_chain,
      fromMs: contents.notBefore.getTime(),
      untilMs: contents.notAfter.getTime(),
    };
  });

const keyed = (
  issuers: readonly ChainedIssuer[],
  infos: Readonly<Record<string, IssuerInfo>>,
): readonly KeyedIssuer[] =>
  issuers
    .map(({ id, name, certificate }) => ({
      id,
      name,
      certificate,
      keyId: infos[id]?.key_id ?? '',
    }))
    .filter(({ keyId }) => keyId !== '');

export const IssuersTab = () => {
  const { mount } = route.useParams();
  const query = useSecretList<IssuerInfo>(`${mount}/issuers`);
  const generate = `${mount}/issuers/generate/root/internal`;
  const may = useCapabilities([generate]);
  const issuers = useIssuers(mount, query.data?.keys ?? []);
  const chained = toChained(issuers, query.data?.infos ?? {});
  return (
    <>
      {chained.length > 0 && (
        <Card title="Chain">
          <IssuerChain issuers={chained} nowMs={Date.now()} />
        </Card>
      )}
      {may(generate, 'update') && (
        <Rotation mount={mount} issuers={keyed(chained, query.data?.infos ?? {})} />
      )}
      <Loaded query={query}>
        {({ keys, infos }) =>
          keys.length === 0 ? (
            <Empty>This authority has no issuer yet: nothing can be issued.</Empty>
          ) : (
            keys.map((id) => {
              const info = infos[id];
              return info === undefined ? null : (
                <IssuerCard key={id} mount={mount} id={id} info={info} issuer={issuers.get(id)} />
              );
            })
          )
        }
      </Loaded>
      <Commands
        commands={[
          secretsCurl('GET', `${mount}/issuers?list=true`),
          vaultCommand(`vault list ${mount}/issuers`),
        ]}
      />
    </>
  );
};
