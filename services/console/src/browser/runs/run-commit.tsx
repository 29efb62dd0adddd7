/** The commit of a run's configuration, when it came from a repository. */
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { includedOne, type OneDocument, type Resource } from '../api/workspaces-api.ts';
import { FactList } from '../components/fact-list.tsx';
import { Card } from '../components/page.tsx';
import { WebLink } from '../components/web-link.tsx';
import type { RunAttributes } from './run.ts';

type Ingress = ResourceAttributes['ingress-attributes'];

const SHORT_SHA = 8;

export const RunCommit = ({ document }: { document: OneDocument<RunAttributes> }) => {
  const version: Resource | undefined = includedOne(
    document,
    document.data,
    'configuration-version',
  );
  const ingress =
    version && includedOne<Ingress>(document, version, 'ingress-attributes')?.attributes;
  if (ingress === undefined) return null;
  const sender = ingress['sender-username'];
  const pullRequest = ingress['pull-request-number'];
  return (
    <Card title="Commit">
      <p>{ingress['commit-message']}</p>
      <FactList
        facts={[
          [
            'Commit',
            <WebLink
              key="commit"
              href={ingress['commit-url']}
              text={ingress['commit-sha'].slice(0, SHORT_SHA)}
            />,
          ],
          ['Repository', ingress.identifier],
          ingress.tag === null ? ['Branch', ingress.branch] : ['Tag', ingress.tag],
          ...(pullRequest === null
            ? []
            : [
                [
                  'Pull request',
                  <WebLink
                    key="pull-request"
                    href={ingress['pull-request-url']}
                    text={`#${pullRequest} ${ingress['pull-request-title'] ?? ''}`}
                  />,
                ] as const,
              ]),
          ...(ingress['compare-url'] === null
            ? []
            : [
                [
                  'Changes',
                  <WebLink key="changes" href={ingress['compare-url']} text="at the provider" />,
                ] as const,
              ]),
          [
            'Sent by',
            sender === null ? (
              '–'
            ) : (
              <WebLink key="sender" href={ingress['sender-html-url']} text={sender} />
            ),
          ],
        ]}
      />
    </Card>
  );
};
