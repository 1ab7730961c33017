import { missingReferences } from './missing-references.js';

const OFFER = {
  tools: ['memory_store', 'crm__find', 'crm__note'],
  awaited: ['files.local'],
  skills: ['weekly-report'],
};
const EVERYTHING = { tools: { allow: ['*'], deny: [] }, skills: ['*'], toolChoice: '' };

test.each([
  ['everything', EVERYTHING],
  [
    'a tool and a pattern',
    { ...EVERYTHING, tools: { allow: ['crm__*', 'memory_store'], deny: ['*__note'] } },
  ],
  [
    'what a server offers that is not there yet',
    { ...EVERYTHING, tools: { allow: ['files_local__*'], deny: ['files_local__erase'] } },
  ],
  ['a pattern that such a server may fit', { ...EVERYTHING, tools: { allow: ['fi*'], deny: [] } }],
  ['a skill', { ...EVERYTHING, skills: ['weekly-*'] }],
  ['a tool that has to be called', { ...EVERYTHING, toolChoice: 'crm__find' }],
  ['a word in place of a tool', { ...EVERYTHING, toolChoice: 'required' }],
])('%s is not missing', (_, agent) => {
  expect(missingReferences(agent, OFFER)).toEqual([]);
});

test('each pattern that matches nothing gets a sentence', () => {
  const agent = {
    tools: { allow: ['cmr__*', 'crm__*'], deny: ['memory_forgot'] },
    skills: ['weekly-report', 'monthly-report'],
    toolChoice: 'crm__seek',
  };
  expect(missingReferences(agent, OFFER)).toEqual([
    'tools.allow: "cmr__*" matches no tool.',
    'tools.deny: "memory_forgot" matches no tool.',
    'tool_choice: there is no tool "crm__seek".',
    'skills: "monthly-report" matches no skill.',
  ]);
});

test('where nothing exists, "*" is accepted', () => {
  expect(missingReferences(EVERYTHING, { tools: [], awaited: [], skills: [] })).toEqual([]);
});
