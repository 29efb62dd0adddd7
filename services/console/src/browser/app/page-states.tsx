import { messageOf } from '../api/api-problem.ts';
import { Button } from '../components/button.tsx';
import { Page, Problem } from '../components/page.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { Key } from '../components/text.tsx';

export const PageLoading = () => <Skeleton label="Loading the page" />;

export const NotFound = () => (
  <Page title="No such page">
    <p>
      The address names no page of the console. The search (<Key>Ctrl</Key> <Key>K</Key>) finds
      pages and entities by name.
    </p>
  </Page>
);

export const PageError = ({ error }: { error: unknown }) => (
  <Page title="The page failed">
    <Problem>{messageOf(error)}</Problem>
    <Button onClick={() => location.reload()}>Load it again</Button>
  </Page>
);
