import {
  type InfiniteData,
  type QueryKey,
  type UseInfiniteQueryResult,
  type UseMutationResult,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type { Page } from '../api/types';
import { useSigned } from '../auth/auth';

type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

export const LIST_REFRESH_MS = 10_000;

interface Options {
  readonly query?: Query;
  readonly refreshMs?: number | false;
  readonly enabled?: boolean;
}

/** Reads one thing and keeps it up to date while it is shown. */
export function useGet<Body>(
  path: string,
  { query = {}, refreshMs = LIST_REFRESH_MS, enabled = true }: Options = {},
): UseQueryResult<Body> {
  const { api } = useSigned();
  return useQuery({
    queryKey: [path, query],
    queryFn: ({ signal }) => api.get<Body>(path, query, signal),
    refetchInterval: refreshMs,
    enabled,
  });
}

/** Reads a list of the operators' API page by page. */
export function usePages<Item>(
  path: string,
  { query = {}, refreshMs = LIST_REFRESH_MS, enabled = true }: Options = {},
): UseInfiniteQueryResult<InfiniteData<Page<Item>>> {
  const { api } = useSigned();
  return useInfiniteQuery({
    queryKey: [path, 'pages', query] as QueryKey,
    queryFn: ({ signal, pageParam }) => api.get<Page<Item>>(path, { ...query, cursor: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page: Page<Item>) => page.next_cursor,
    // Pages further down are refreshed only on request: each of them would be a request.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : refreshMs),
    enabled,
  });
}

interface Change<Input> {
  readonly method?: 'POST' | 'PATCH' | 'DELETE';
  readonly path: (input: Input) => string;
  readonly body?: (input: Input) => unknown;
  readonly headers?: (input: Input) => Readonly<Record<string, string>>;
}

/** Changes something, then refreshes everything that is shown. */
export function useChange<Input, Body = unknown>({
  method = 'POST',
  path,
  body,
  headers,
}: Change<Input>): UseMutationResult<Body, Error, Input> {
  const { api } = useSigned();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => api.send<Body>(method, path(input), body?.(input), headers?.(input)),
    onSettled: () => queries.invalidateQueries(),
  });
}
