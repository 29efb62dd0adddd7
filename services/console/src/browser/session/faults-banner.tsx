import { useQuery } from '@tanstack/react-query';
import { parsedBody, request } from '../api/api-problem.ts';
import { BannerLine, Banners } from '../components/banners.tsx';

const EVERY_MS = 30_000;

interface Readiness {
  /** Sentences by service; absent without a fault. */
  readonly impaired?: Readonly<Record<string, readonly string[]>>;
}

const readFaults = async (signal: AbortSignal): Promise<readonly string[]> => {
  const answer = await request('/readyz', { signal });
  const { impaired = {} } = (await parsedBody(answer)) as Readiness;
  return Object.values(impaired).flat();
};

/**
 * Faults of a cluster that serves requests all the same, such as an audit device that cannot be written to. Everybody
 * may ask for them, so they are also shown where nobody can sign in because of them.
 */
export const FaultsBanner = () => {
  const { data: faults = [] } = useQuery({
    queryKey: ['faults'],
    queryFn: ({ signal }) => readFaults(signal),
    refetchInterval: EVERY_MS,
  });
  return (
    faults.length > 0 && (
      <Banners label="Faults">
        {faults.map((fault) => (
          <BannerLine key={fault} title="This server reports a fault" text={`${fault}.`} />
        ))}
      </Banners>
    )
  );
};
