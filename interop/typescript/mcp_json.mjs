// Starts a server as a host does: by its entry in an mcp.json. Calls a tool, answers
// what it asks, and prints the result.
//
//   node mcp_json.mjs FILE NAME TOOL ANSWERS modern|legacy

import { readFile } from 'node:fs/promises';

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [file, name, tool, answers, era] = process.argv.slice(2);
const { mcpServers, servers } = JSON.parse(await readFile(file, 'utf8'));
const { command, args, env } = (mcpServers ?? servers)[name];

const client = new Client({ name: 'interop-host', version: '1.0.0' }, {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' }
});
const known = JSON.parse(answers);
client.setRequestHandler('elicitation/create', ({ params }) => {
    const asked = Object.keys(params.requestedSchema.properties);
    return { action: 'accept', content: Object.fromEntries(asked.map(key => [key, known[key]])) };
});
await client.connect(new StdioClientTransport({ command, args, env }));
const result = await client.callTool({ name: tool, arguments: {} });
console.log(result.content[0].text);
await client.close();
