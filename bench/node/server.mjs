// The official TypeScript SDK, with its request-state codec and its host and
// origin checks, on Node's own HTTP server.
import { createServer } from 'node:http';
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer, acceptedContent, createMcpHandler, createRequestStateCodec, inputRequired } from '@modelcontextprotocol/server';
import { z } from 'zod';

const STATE = 'x'.repeat(200);
const Message = z.object({ message: z.string() });
const Person = z.object({ name: z.string() });
const codec = createRequestStateCodec({
  key: 'a key of thirty-two bytes or more',
  bind: (ctx) => ctx.mcpReq.method,
});

function serve() {
  const server = new McpServer({ name: 'bench', version: '1.0.0' }, { requestState: { verify: codec.verify } });
  server.registerTool('echo', { description: 'Says the message again', inputSchema: Message }, ({ message }) => ({
    content: [{ type: 'text', text: message }],
  }));
  registerAsk(server, 'ask', 'Asks for a name first', () => 'What is your name?');
  registerAsk(
    server,
    'ask_about',
    'Asks for a name first, with the message in its question',
    (message) => `What is your name, for ${message}?`,
  );
  return server;
}

function registerAsk(server, name, description, question) {
  server.registerTool(name, { description, inputSchema: Message }, async ({ message }, ctx) => {
    const person = acceptedContent(ctx.mcpReq.inputResponses, 'name', Person);
    if (!person) {
      return inputRequired({
        inputRequests: { name: inputRequired.elicit({ message: question(message), requestedSchema: Person }) },
        requestState: await codec.mint(STATE, ctx),
      });
    }
    if (ctx.mcpReq.requestState() !== STATE) throw new Error('the state is another');
    return { content: [{ type: 'text', text: `${message}, ${person.name}` }] };
  });
}

const answer = toNodeHandler(createMcpHandler(serve));
const validateHost = localhostHostValidation();
const validateOrigin = localhostOriginValidation();
const http = createServer((req, res) => {
  if (validateHost(req, res) && validateOrigin(req, res)) answer(req, res);
});
http.listen(0, '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${http.address().port}/mcp`));
