import torch
data = torch.tensor([True, False], dtype=torch.bool)
indices = torch.tensor([1], dtype=torch.int64)
updates = torch.tensor([True], dtype=torch.bool)
print('expected:', '[true, true] bool', flush=True)
def call(data, indices, updates):
    return torch.index_add(input=data, index=indices, source=updates, dim=0, alpha=2)
call = torch.compile(call, dynamic=False)
output = call(data, indices, updates)
print("seen:    ", output.tolist(), output.dtype, output.shape)
