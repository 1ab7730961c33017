import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../platform/tokens/caller.js';
import { SessionsService } from '../../sessions/sessions.api.js';
import { ServedModels } from '../served-models.service.js';

export interface ModelView {
  readonly id: string;
  readonly object: 'model';
  /** Agents have no date of their own. */
  readonly created: number;
  readonly owned_by: 'agent-gateway';
}

export interface ModelListView {
  readonly object: 'list';
  readonly data: readonly ModelView[];
}

/** Answers GET /v1/models: the agents that the caller may use. */
@Injectable()
export class ModelsHandler {
  constructor(
    private readonly models: ServedModels,
    private readonly sessions: SessionsService,
  ) {}

  list(caller: Caller): ModelListView {
    const agents = this.models.list(caller, this.sessions.userOf(undefined, caller));
    return { object: 'list', data: agents.map(({ name }) => viewOf(name)) };
  }

  /** Throws `ModelNotFound`. */
  find(name: string, caller: Caller): ModelView {
    this.models.find(name, caller, this.sessions.userOf(undefined, caller));
    return viewOf(name);
  }
}

function viewOf(id: string): ModelView {
  return { id, object: 'model', created: 0, owned_by: 'agent-gateway' };
}
