import { FactList } from '../components/fact-list.tsx';
import { Card, Empty } from '../components/page.tsx';
import { Pill } from '../components/pill.tsx';
import { PlainList } from '../components/plain-list.tsx';
import { Small } from '../components/text.tsx';
import type { CertificateContents } from './certificate-contents.ts';

/**
 * All extensions of a certificate. Critical ones are marked, because clients must refuse a
 * certificate with an unknown one.
 */
export const ExtensionList = ({ contents }: { contents: CertificateContents }) => (
  <Card title="Extensions">
    {contents.extensions.length === 0 ? (
      <Empty>The certificate has no extension.</Empty>
    ) : (
      <FactList
        facts={contents.extensions.map(({ oid, name, isCritical, lines }) => [
          name,
          <div key={oid}>
            {isCritical && <Pill tone="busy">critical</Pill>} {name !== oid && <Small>{oid}</Small>}
            <PlainList>
              {lines.map((line, at) => (
                <li key={`${at}`}>{line}</li>
              ))}
            </PlainList>
          </div>,
        ])}
      />
    )}
  </Card>
);
