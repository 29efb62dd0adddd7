import { messageOf } from '../api/api-problem.ts';
import { Skeleton } from '../components/loaded.tsx';
import { Page, Problem } from '../components/page.tsx';

export const PageLoading = () => <Skeleton label="Loading the page" />;

export const NotFound = () => (
  <Page title="No such page">
    <p>
      The address names no page of the console. The search (<kbd>Ctrl</kbd> <kbd>K</kbd>) finds
      pages and entities by name.
    </p>
  </Page>
);

export const PageError = ({ error }: { error: unknown }) => (
  <Page title="The page failed">
    <Problem>{messageOf(error)}</Problem>
    <button type="button" onClick={() => location.reload()}>
      Load it again
    </button>
  </Page>
);
