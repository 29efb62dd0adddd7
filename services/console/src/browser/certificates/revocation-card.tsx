/** The revocation list as served, and the rules by which lists and OCSP answers are made. */
import { useQuery } from '@tanstack/react-query';
import { mountAddress } from '../api/mount-address.ts';
import { useCapabilities, useSecret } from '../api/queries.ts';
import { callSecrets, readData } from '../api/secrets-api.ts';
import { useSession } from '../api/session.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { FactList } from '../components/fact-list.tsx';
import { FormActions } from '../components/fields.tsx';
import { counted, formatDistance, formatTime } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty } from '../components/page.tsx';
import { Pill, PillRow } from '../components/pill.tsx';
import { Code } from '../components/text.tsx';
import { listContents } from './certificate-contents.ts';
import { type CrlConfig, EditRules } from './revocation-rules.tsx';

/** The list of the default issuer. */
const ServedList = ({ mount }: { mount: string }) => {
  const { secrets, namespace } = useSession();
  const query = useQuery({
    queryKey: ['crl', secrets, namespace, mount],
    queryFn: async ({ signal }) => {
      const served = await readData<{ certificate?: string }>(`${mount}/cert/crl`, { signal });
      return served?.certificate === undefined ? null : listContents(served.certificate);
    },
  });
  return (
    <Loaded query={query}>
      {(list) =>
        list === null ? (
          <Empty>No list is served: the authority has no issuer.</Empty>
        ) : (
          <FactList
            facts={[
              ['Revoked', counted(list.count, 'certificate')],
              ['Made', formatTime(list.madeAt.getTime())],
              [
                'Next list',
                list.nextAt === undefined
                  ? 'not announced'
                  : `${formatTime(list.nextAt.getTime())}, ${formatDistance(list.nextAt.getTime(), Date.now())}`,
              ],
              ['Signed by', list.issuer],
            ]}
          />
        )
      }
    </Loaded>
  );
};

export const RevocationCard = ({ mount }: { mount: string }) => {
  const path = `${mount}/config/crl`;
  const rotate = `${mount}/crl/rotate`;
  const query = useSecret<CrlConfig>(path);
  const may = useCapabilities([path, rotate]);
  return (
    <Card title="Revocation list and OCSP">
      <Loaded query={query}>
        {(config) =>
          config !== null && (
            <>
              <PillRow>
                <Pill tone={config.disable ? 'bad' : 'good'}>
                  {config.disable ? 'no lists' : 'lists'}
                </Pill>
                <Pill tone={config.ocsp_disable ? 'bad' : 'good'}>
                  {config.ocsp_disable ? 'no OCSP' : 'OCSP'}
                </Pill>
                {config.enable_delta && <Pill tone="good">delta lists</Pill>}
                {config.unified_crl && <Pill tone="good">list of all clusters</Pill>}
              </PillRow>
              <ServedList mount={mount} />
              <FactList
                facts={[
                  ['A list is valid for', config.expiry],
                  [
                    'A list is made',
                    config.auto_rebuild
                      ? `${config.auto_rebuild_grace_period} before the last one expires`
                      : 'at each revocation',
                  ],
                  ...(config.enable_delta
                    ? ([
                        ['A delta list is built', `every ${config.delta_rebuild_interval}`],
                      ] as const)
                    : []),
                  [
                    'Entries of a list',
                    config.max_crl_entries < 0
                      ? 'no limit'
                      : `${config.max_crl_entries.toLocaleString()} at most`,
                  ],
                  ['An OCSP answer is valid for', config.ocsp_expiry],
                  ['List for clients', <Code key="list">{`${mountAddress(mount)}/crl`}</Code>],
                  ['OCSP for clients', <Code key="ocsp">{`${mountAddress(mount)}/ocsp`}</Code>],
                ]}
              />
              <FormActions>
                {may(path, 'update') && <EditRules path={path} />}
                {may(rotate, 'read') && (
                  <ActionButton
                    label="Rebuild the list"
                    title="Rebuild the revocation list now?"
                    confirm="Create it"
                    act={() => callSecrets('GET', rotate)}
                    commands={[secretsCurl('GET', rotate), vaultCommand(`vault read ${rotate}`)]}
                  >
                    <p>It replaces the list that is served, and says all that is revoked by now.</p>
                  </ActionButton>
                )}
              </FormActions>
            </>
          )
        }
      </Loaded>
      <Commands commands={[secretsCurl('GET', path), vaultCommand(`vault read ${path}`)]} />
    </Card>
  );
};
