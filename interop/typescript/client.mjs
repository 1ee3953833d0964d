// Runs the cases with the TypeScript SDK's client; one JSON line for each.
//
//   node client.mjs CASES URL modern|legacy

import { readFile } from 'node:fs/promises';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [file, url, era] = process.argv.slice(2);
const { answers, cases } = JSON.parse(await readFile(file, 'utf8'));

const client = new Client({ name: 'interop-typescript', version: '1.0.0' }, {
    capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
    versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' }
});

let action = 'accept';
client.setRequestHandler('elicitation/create', ({ params }) => {
    if (action !== 'accept' || params.mode === 'url') return { action };
    const asked = Object.keys(params.requestedSchema.properties).filter(key => key in answers.fields);
    return { action, content: Object.fromEntries(asked.map(key => [key, answers.fields[key]])) };
});
client.setRequestHandler('sampling/createMessage', () => ({
    role: 'assistant',
    model: 'scripted',
    stopReason: 'endTurn',
    content: { type: 'text', text: answers.sample }
}));
client.setRequestHandler('roots/list', () => ({ roots: answers.roots }));

async function run(test) {
    action = test.action ?? 'accept';
    if (test.list === 'tools') return (await client.listTools()).tools.map(tool => tool.name).sort().join(' ');
    if (test.list === 'prompts') return (await client.listPrompts()).prompts.map(prompt => prompt.name).join(' ');
    if (test.list === 'templates') {
        return (await client.listResourceTemplates()).resourceTemplates.map(template => template.uriTemplate).join(' ');
    }
    if (test.prompt) {
        return (await client.getPrompt({ name: test.prompt, arguments: test.arguments })).messages[0].content.text;
    }
    if (test.resource) return (await client.readResource({ uri: test.resource })).contents[0].text;
    const result = await client.callTool({ name: test.tool, arguments: test.arguments });
    return (result.isError ? 'isError: ' : '') + result.content[0].text;
}

await client.connect(new StreamableHTTPClientTransport(new URL(url)));
for (const test of cases) {
    const outcome = await run(test).then(got => ({ got }), error => ({ error: String(error) }));
    console.log(JSON.stringify({ id: test.id, ...outcome }));
}
await client.close();
